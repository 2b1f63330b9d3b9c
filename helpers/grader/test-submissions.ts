import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';

/** An entry of a zip file for tests. What it claims may be a lie. */
export interface TestEntry {
  readonly path: string;
  readonly content?: string | Buffer;
  /** As Unix has it; a plain file by default. */
  readonly mode?: number;
  readonly encrypted?: boolean;
  /** Size that the directory claims. */
  readonly claimedSize?: number;
  readonly checksum?: number;
  /** Where the directory claims it to be, instead of where it is. */
  readonly at?: number;
}

/** A zip file, written by hand: other programs would refuse to write most of what tests need. */
export function makeZip(entries: readonly TestEntry[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? '');
    const packed = deflateRawSync(content);
    const path = Buffer.from(entry.path);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(entry.encrypted ? 1 : 0, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(entry.checksum ?? crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(entry.claimedSize ?? content.length, 18);
    common.writeUInt16LE(path.length, 22);
    const body = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, path, packed]);
    const tail = Buffer.alloc(14);
    const mode = entry.mode ?? (entry.path.endsWith('/') ? 0o040755 : 0o100644);
    tail.writeUInt32LE((mode << 16) >>> 0, 6);
    tail.writeUInt32LE(entry.at ?? offset, 10);
    const head = Buffer.from('PK\x01\x02\x14\x03', 'latin1');
    directory.push(Buffer.concat([head, common, tail, path]));
    bodies.push(body);
    offset += body.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, ...directory, end]);
}

/** Writes a submission's files below a folder, by path, and gives the folder back. */
export function writeFolder(
  folder: string,
  files: Readonly<Record<string, string | Buffer>>,
): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}
