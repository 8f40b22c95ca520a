/** The number of leading bytes that are complete characters, at most `most`. */
export function wholeCharacters(bytes: Uint8Array, most: number): number {
  const end = Math.min(bytes.length, most)
  for (let back = 1; back <= Math.min(3, end); back++) {
    const byte = bytes[end - back] ?? 0
    if (byte < 0x80) return end
    const isLead = byte >= 0xc0
    if (isLead) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? end - back : end
  }
  return end
}
