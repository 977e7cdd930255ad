/** The length of `bytes` without an incomplete UTF-8 sequence at the end. Invalid bytes count as complete. */
export function completeUtf8Length(bytes: Uint8Array): number {
  const longestTail = Math.min(3, bytes.length);
  for (let back = 1; back <= longestTail; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const sequence = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte < 0xe0 ? 2 : 1;
    return sequence > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
