// `npm run doctor`: looks for what is wrong with this machine or this checkout, and says what mends
// it. Plain JavaScript without packages, since those may be what is missing.
//
// --brief prints only what is wrong. The course's report calls it so.
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { printable } from './print.mjs';
import { examine } from './probes.mjs';

const isBrief = process.argv.includes('--brief');
const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/[\\/]$/, '');
const findings = await examine(root);
const hasColours = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (style, text) => (hasColours ? styleText(style, text) : text);

for (const line of printable(findings, { isBrief, paint })) console.log(line);
if (findings.some(({ state }) => state === 'problem')) process.exitCode = 1;
