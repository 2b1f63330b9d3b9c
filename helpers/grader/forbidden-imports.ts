// Which imports, and which words of JavaScript, a submission's exercise does without. Checked here on
// its text, before any of it runs, and once more by seal.ts when it imports.
import { readFileSync } from 'node:fs';
import { type ESTree, type Plugin, parseAst } from 'vite';
import { isExercise, refusalOf } from './allowed-imports.ts';

/** Refuses to transform an exercise that imports what it may not, with a sentence a student reads. */
export function forbiddenImports(): Plugin {
  return {
    name: 'traffic-layer:forbidden-imports',
    enforce: 'pre',
    // Vite itself would also read what the file names as its source map: a device without end, say.
    load(id) {
      return isExercise(id) ? readFileSync(id.replace(/\?.*$/, ''), 'utf8') : undefined;
    },
    transform(code, id) {
      if (!isExercise(id)) return;
      const problem = problemOf(code);
      if (problem) this.error(problem.message, problem.at);
    },
  };
}

/**
 * What is forbidden in the text of an exercise.
 *
 * @returns undefined when nothing is, and when it can't be parsed: that is reported elsewhere
 */
export function problemOf(code: string): { message: string; at: number } | undefined {
  let program: ESTree.Program;
  try {
    program = parseAst(code, { lang: 'ts' });
  } catch {
    return;
  }
  return find(program as unknown as Node);
}

/** A node of the syntax tree, as far as it is looked at here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

function find(node: Node, parent?: Node): { message: string; at: number } | undefined {
  const message = problemIn(node, parent);
  if (message) return { message, at: node.start };
  for (const field of Object.values(node)) {
    for (const child of Array.isArray(field) ? field : [field]) {
      if (!isNode(child)) continue;
      const problem = find(child, node);
      if (problem) return problem;
    }
  }
  return undefined;
}

function isNode(value: unknown): value is Node {
  return typeof (value as Node | null | undefined)?.type === 'string';
}

function problemIn(node: Node, parent: Node | undefined): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
      return node.importKind === 'type' ? undefined : sourceProblem(node.source);
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      return node.exportKind === 'type' || !node.source ? undefined : sourceProblem(node.source);
    case 'ImportExpression':
      return sourceProblem(node.source);
    case 'TSImportEqualsDeclaration':
      return 'exercise.ts uses "import x = ...": use "import x from ..."';
    case 'MetaProperty': {
      if ((node.meta as Node).name !== 'import') return; // new.target
      const property = parent?.type === 'MemberExpression' && !parent.computed && parent.property;
      if (isNode(property) && /^(?:url|dirname|filename)$/.test(String(property.name))) return;
      return 'exercise.ts uses more of import.meta than its url, dirname and filename';
    }
    case 'Identifier':
      // Names by which Vite and Vitest reach their own parts from inside of a module.
      return /^__(?:vi_|vite|vitest)/.test(String(node.name))
        ? `exercise.ts uses the name ${node.name}, which belongs to Vitest`
        : undefined;
    default:
      return undefined;
  }
}

function sourceProblem(source: unknown): string | undefined {
  if (!isNode(source)) return;
  // A text that is put together while it runs can't be checked before.
  if (typeof source.value !== 'string') {
    return 'exercise.ts imports something whose name is computed: write the name out';
  }
  return refusalOf(source.value);
}
