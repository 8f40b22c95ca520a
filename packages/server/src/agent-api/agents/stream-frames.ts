// Encodes and decodes the ping stream by hand, because its messages have few fields; protocol/pings.ts describes them.
import { STREAM_PINGS_FIELDS, type StreamPingsResponse } from '@millrace/protocol/pings.ts'

/** A message with its frame: a zero byte, the length in four bytes, the message. */
export function frameOf(message: StreamPingsResponse): Buffer {
  const body = field(STREAM_PINGS_FIELDS[message.action], contentOf(message))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

function contentOf(message: StreamPingsResponse): Buffer {
  switch (message.action) {
    case 'resume':
      return Buffer.alloc(0)
    case 'pause':
    case 'disconnect':
      return message.reason === '' ? Buffer.alloc(0) : field(1, Buffer.from(message.reason))
    case 'job':
      return field(1, field(1, Buffer.from(message.job_id)))
  }
}

const field = (number: number, content: Buffer) =>
  Buffer.concat([Buffer.from([(number << 3) | 2]), varint(content.length), content])

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest > 127 ? (rest & 127) | 128 : rest)
    if (rest <= 127) return Buffer.from(bytes)
  }
}

/** The agent that a framed request names; null when the request cannot be read. */
export function readAgentId(request: Buffer): string | null {
  if (request.length < 5 || request[0] !== 0 || request.readUInt32BE(1) !== request.length - 5) return null
  // An id is short, so its length is one byte.
  const [tag, length] = [request[5], request[6]]
  if (tag !== ((1 << 3) | 2) || length === undefined || length > 127) return null
  const id = request.subarray(7, 7 + length)
  return id.length === length ? id.toString() : null
}
