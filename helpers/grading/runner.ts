import type { RunnerTask } from 'vitest';
import { TestRunner } from 'vitest';
import type { Progress } from './progress.ts';

// Taken at load time: an exercise may replace process.send later.
const send = process.send?.bind(process);

/** Vitest's runner, telling the guarded pool which test is running and how it ended. */
export default class ReportingRunner extends TestRunner {
  override async onBeforeRunTask(task: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(task);
    if (task.type === 'test') tell({ course: 'start', test: task.id });
  }

  override onAfterRunTask(task: RunnerTask): void {
    super.onAfterRunTask(task);
    if (task.type === 'test') {
      tell({ course: 'end', test: task.id, passed: task.result?.state === 'pass' });
    }
  }
}

function tell(progress: Progress): void {
  send?.(progress);
}
