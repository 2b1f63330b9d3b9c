/** What a check has found. `fix` is there unless all is well. */
export interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly found: string;
  readonly fix?: string;
}

/** One entry of `packages` in package-lock.json. */
export interface LockEntry {
  readonly version?: string;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly devDependencies?: Readonly<Record<string, string>>;
}
export type Lock = Readonly<Record<string, LockEntry>>;

/** Which builds fit here. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** Only on Linux: `glibc` or `musl`. */
  readonly libc?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function nodeVersion(input: {
  readonly version: string;
  readonly wanted: string;
  readonly engines: readonly { readonly package: string; readonly range: string }[];
  readonly platform: string;
}): Finding;

export function nodeOptions(input: { readonly env: Environment }): Finding;

export function installState(input: {
  readonly manifest: { readonly devDependencies?: Readonly<Record<string, string>> } | undefined;
  readonly lock: Lock | undefined;
  readonly versionOf: (path: string) => string | undefined;
  readonly machine: Machine;
  readonly env?: Environment;
}): Finding;

export function nativePackages(input: {
  readonly lock: Lock;
  readonly machine: Machine;
}): { readonly path: string; readonly version: string }[];

export function nativeParts(input: {
  readonly parts: readonly { readonly package: string; readonly error?: string | undefined }[];
  readonly machine: Machine;
}): Finding;

export function lineEndings(input: {
  readonly files: readonly string[];
  readonly autocrlf?: string | undefined;
  readonly attributes?: string | undefined;
}): Finding;

export function folderPath(input: { readonly root: string; readonly platform: string }): Finding;

export function folderWritable(input: {
  readonly tries: readonly { readonly path: string; readonly code?: string | undefined }[];
  readonly platform: string;
}): Finding;

export function tempFolder(input: {
  readonly path: string;
  readonly code?: string | undefined;
  readonly freeMegabytes?: number | undefined;
  readonly platform: string;
}): Finding;

export function localhost(input: {
  readonly addresses?: readonly string[] | undefined;
  readonly code?: string | undefined;
  readonly platform: string;
}): Finding;

export function freePorts(input: {
  readonly code?: string | undefined;
  readonly opened: number;
  readonly ports?: { readonly all: number; readonly taken: number } | undefined;
  readonly platform: string;
}): Finding;

export function proxies(input: { readonly env: Environment }): Finding;

export function watching(input: {
  readonly root: string;
  readonly ms?: number | undefined;
  readonly code?: string | undefined;
  readonly fileSystem?: string | undefined;
  readonly wsl: boolean;
  readonly platform: string;
}): Finding;

export function leftovers(input: {
  readonly processes?: readonly { readonly pid: number; readonly hasParent: boolean }[] | undefined;
  readonly unknown?: string | undefined;
  readonly platform: string;
}): Finding;

export function clock(input: {
  readonly now: number;
  readonly newest: number;
  readonly platform: string;
}): Finding;

export function memory(input: { readonly availableMegabytes: number }): Finding;

export function openFiles(input: { readonly limit?: number | undefined }): Finding;
