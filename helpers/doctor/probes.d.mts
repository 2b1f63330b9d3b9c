import type { Finding } from './checks.mjs';

export function examine(root: string): Promise<Finding[]>;
export function packagesOutOfStep(root: string): Finding | undefined;
