import type { Finding } from './checks.mjs';

export function printable(
  findings: readonly Finding[],
  options?: {
    readonly isBrief?: boolean;
    readonly paint?: (style: 'green' | 'yellow' | 'red', text: string) => string;
  },
): string[];
