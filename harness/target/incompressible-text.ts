const made = new Map<number, Buffer>();

/** Returns text that does not compress well and needs no escapes in JSON. */
export function incompressibleText(sizeBytes: number): Buffer {
  const known = made.get(sizeBytes);
  if (known !== undefined) return known;
  const bytes = Buffer.alloc(sizeBytes);
  let state = 1;
  for (let index = 0; index < sizeBytes; index += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    bytes[index] = 0x30 + ((state >> 16) % 43);
  }
  made.set(sizeBytes, bytes);
  return bytes;
}
