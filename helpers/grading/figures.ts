import type { Vite, Vitest } from 'vitest/node';

/**
 * Asks the lessons for their figures when somebody will look at them: in Vitest UI, and in the HTML
 * report. They would slow down every other run.
 */
export function figures(): Vite.Plugin {
  return {
    name: 'traffic-layer:figures',
    configureVitest({ vitest, project }) {
      if (hasViewer(vitest)) project.config.env = { ...project.config.env, FIGURES: '1' };
    },
  };
}

function hasViewer({ config }: Vitest): boolean {
  return config.ui || config.reporters.some((reporter) => [reporter].flat()[0] === 'html');
}
