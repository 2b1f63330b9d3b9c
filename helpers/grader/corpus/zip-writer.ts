import { writeFileSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';

/** An entry of a zip file, honest unless it says otherwise. */
export interface EntryToWrite {
  /** Written as it is, so it may escape. */
  readonly path: string;
  readonly content: string | Buffer;
  /** Unix mode, such as 0o120777 for a link whose target is the content. */
  readonly mode?: number;
  /** Bytes that its headers claim. */
  readonly claims?: number;
  /** Where it claims to be, instead of where it is. */
  readonly at?: number;
  readonly encrypted?: boolean;
}

/** Writes a zip file that no packer would write. */
export function writeZip(file: string, entries: readonly EntryToWrite[]): void {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content, mode = 0o100644, claims, at, encrypted } of entries) {
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const name = Buffer.from(path);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(encrypted ? 1 : 0, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(plain), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(claims ?? plain.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed]);
    const attributes = Buffer.alloc(14);
    attributes.writeUInt32LE((mode << 16) >>> 0, 6);
    attributes.writeUInt32LE(at ?? offset, 10);
    directory.push(
      Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, attributes, name]),
    );
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  writeFileSync(file, Buffer.concat([...parts, list, end]));
}
