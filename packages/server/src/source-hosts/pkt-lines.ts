// The framing of git's protocol: lines that begin with their length in four hexadecimal digits, and packets without a line.

type Packet = Buffer | 'flush' | 'delimiter' | 'end'

const withoutLine: Readonly<Record<string, Packet>> = { '0000': 'flush', '0001': 'delimiter', '0002': 'end' }

/** null: the bytes are something else. */
export function readPackets(bytes: Buffer): Packet[] | null {
  const packets: Packet[] = []
  let at = 0
  while (at < bytes.length) {
    const digits = bytes.toString('latin1', at, at + 4)
    if (!/^[0-9a-f]{4}$/.test(digits)) return null
    const special = withoutLine[digits]
    const length = special === undefined ? Number.parseInt(digits, 16) : 4
    if (length < 4 || at + length > bytes.length) return null
    packets.push(special ?? bytes.subarray(at + 4, at + length))
    at += length
  }
  return packets
}

/** The names of packets without a line stand for those; lines end with a newline. */
export const writePackets = (packets: ReadonlyArray<Buffer | string>): Buffer =>
  Buffer.concat(packets.map(writePacket))

function writePacket(packet: Buffer | string): Buffer {
  if (packet === 'flush') return Buffer.from('0000')
  if (packet === 'delimiter') return Buffer.from('0001')
  if (packet === 'end') return Buffer.from('0002')
  const line = Buffer.from(packet)
  return Buffer.concat([Buffer.from((line.length + 4).toString(16).padStart(4, '0')), line])
}

/** The packets until the first flush, and the rest; null: it is still to come, or the bytes are something else. */
export function splitAtFlush(bytes: Buffer): [Buffer, Buffer] | null {
  let at = 0
  for (;;) {
    const digits = bytes.toString('latin1', at, at + 4)
    if (!/^[0-9a-f]{4}$/.test(digits)) return null
    const length = Number.parseInt(digits, 16)
    at += Math.max(length, 4)
    if (at > bytes.length) return null
    if (length === 0) return [bytes.subarray(0, at), bytes.subarray(at)]
  }
}

/** Hosts may put the name of the service in front. */
export function isVersion2(advertised: Buffer): boolean {
  const lines = (readPackets(advertised) ?? []).map(textOf)
  return lines.find((line) => line !== '' && !line.startsWith('# ')) === 'version 2'
}

/** Without the newline that ends most lines. */
export const textOf = (packet: Packet): string =>
  Buffer.isBuffer(packet) ? packet.toString().replace(/\n$/, '') : ''
