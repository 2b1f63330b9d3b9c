// Tries: to have Vitest replace the lesson's given code, as a test could.
// Must: refuse the import, or give no point.

import { vi } from 'vitest';

vi.mock('./given.ts', () => ({
  CLIENTS: [],
  SHIPMENT: {},
  OWNERSHIP: {},
  WORLD: {},
  CLIENT_MIX: {},
}));
vi.mock('#helpers/lesson/bad-input.ts', () => ({ expectRefusal: () => {} }));
