export function numbersOf(version: string): [major: number, minor: number, patch: number];
export function satisfies(version: string, range: string): boolean;
