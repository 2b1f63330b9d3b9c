/** A replica as the configuration of a program in front of it names it. */
export interface Replica {
  /** Such as `k1`. */
  readonly name: string;
  /** TCP port on 127.0.0.1. */
  readonly port: number;
}
