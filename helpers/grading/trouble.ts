import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SerializedError, TestModule } from 'vitest/node';
import { packagesOutOfStep } from '../doctor/probes.mjs';

/** What a system says when it has run out of something, or doesn't let anybody. */
const REFUSALS =
  /\b(EADDRNOTAVAIL|EMFILE|ENFILE|ENOSPC|EDQUOT|EROFS|ENOMEM|EAGAIN|EACCES|EPERM)\b(?=[:,]| \d| [\d:/.]|$)/;
/** Of those, what a student's program does not bring about by asking for something forbidden. */
const SCARCE = /^(EADDRNOTAVAIL|EMFILE|ENFILE|ENOSPC|EDQUOT|EROFS|ENOMEM|EAGAIN)$/;
/** Milliseconds for the doctor, who has 16 things to look at. */
const DOCTOR_MS = 20_000;

/**
 * Why a run may have failed for a reason that isn't the student's: a reference fails, the system
 * refuses something, or the packages are not those of the lock file.
 *
 * @param root folder of the course
 * @returns a sentence, or undefined when nothing speaks for that
 */
export function suspectMachine(
  modules: readonly TestModule[],
  unhandledErrors: readonly SerializedError[],
  root: string,
): string | undefined {
  const references = modules.filter(({ project }) => project.name === 'solutions');
  const refused =
    refusalIn(unhandledErrors) ??
    refusalIn(references.flatMap(errorsOf)) ??
    refusalIn(modules.flatMap(errorsOf), SCARCE);
  if (refused) return `This machine has refused something that the tests need (${refused}).`;
  if (references.some((module) => !module.ok())) {
    return 'A reference fails, and that is no fault of yours.';
  }
  const failed = unhandledErrors.length > 0 || modules.some((module) => !module.ok());
  return failed && packagesOutOfStep(root)
    ? 'node_modules is not what package-lock.json says.'
    : undefined;
}

/** What `npm run doctor` has to say against this machine, as lines to print. */
export async function askDoctor(root: string): Promise<string[]> {
  const call = promisify(execFile)(
    process.execPath,
    [join(root, 'helpers/doctor/cli.mjs'), '--brief'],
    { cwd: root, timeout: DOCTOR_MS, windowsHide: true },
  );
  // With a problem it exits with 1, and has said which.
  const { stdout } = await call.catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }));
  const lines = stdout.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 0
    ? [...lines, '  All that was looked at: npm run doctor']
    : ['  npm run doctor finds nothing wrong with it.'];
}

function errorsOf(module: TestModule): SerializedError[] {
  const tests = [...module.children.allTests('failed')];
  return [...module.errors(), ...tests.flatMap((test) => test.result().errors ?? [])];
}

function refusalIn(errors: readonly SerializedError[], only = /./): string | undefined {
  for (const { code, message } of errors) {
    const said = typeof code === 'string' ? REFUSALS.exec(code) : REFUSALS.exec(String(message));
    if (said?.[1] && only.test(said[1])) return said[1];
  }
  return undefined;
}
