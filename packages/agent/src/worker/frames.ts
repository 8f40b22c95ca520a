// Encodes and decodes the ping stream's protobuf frames. By hand, because there are only five messages.

import { STREAM_PINGS_FIELDS } from '@millrace/protocol/pings.ts'
import type { StreamPingsResponse } from '@millrace/protocol/pings.ts'

const HEAD_BYTES = 5
const MAX_FRAME_BYTES = 1024 * 1024
const LENGTH_DELIMITED = 2

export function encodeRequest(agentId: string): Buffer {
  const id = Buffer.from(agentId)
  return frame(Buffer.concat([Buffer.from([field(1)]), varint(id.length), id]))
}

/** Takes bytes as they arrive and returns the complete messages. Throws if the bytes are not such a stream. */
export function createFrameReader(): (bytes: Buffer) => StreamPingsResponse[] {
  let waiting: Buffer = Buffer.alloc(0)
  return (bytes) => {
    waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes])
    const messages: StreamPingsResponse[] = []
    while (waiting.length >= HEAD_BYTES) {
      const length = waiting.readUInt32BE(1)
      if (waiting[0] !== 0) throw new Error('a compressed or unknown frame')
      if (length > MAX_FRAME_BYTES) throw new Error('a frame is too large')
      if (waiting.length < HEAD_BYTES + length) break
      const message = decodeMessage(waiting.subarray(HEAD_BYTES, HEAD_BYTES + length))
      if (message) messages.push(message)
      waiting = waiting.subarray(HEAD_BYTES + length)
    }
    return messages
  }
}

/** Null for an unknown kind of message. */
function decodeMessage(bytes: Buffer): StreamPingsResponse | null {
  const fields = readFields(bytes)
  if (fields.has(STREAM_PINGS_FIELDS.disconnect))
    return { action: 'disconnect', reason: textIn(fields, STREAM_PINGS_FIELDS.disconnect) }
  if (fields.has(STREAM_PINGS_FIELDS.pause))
    return { action: 'pause', reason: textIn(fields, STREAM_PINGS_FIELDS.pause) }
  const assigned = fields.get(STREAM_PINGS_FIELDS.job)
  if (assigned) {
    const job = readFields(assigned).get(1)
    return { action: 'job', job_id: (job && readFields(job).get(1)?.toString()) ?? '' }
  }
  return fields.has(STREAM_PINGS_FIELDS.resume) ? { action: 'resume' } : null
}

function textIn(fields: ReadonlyMap<number, Buffer>, number: number): string {
  const inner = fields.get(number)
  return (inner && readFields(inner).get(1)?.toString()) ?? ''
}

/** Reads length-delimited fields and skips others. */
function readFields(bytes: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>()
  let at = 0
  while (at < bytes.length) {
    const tag = readVarint(bytes, at)
    at = tag.next
    const kind = tag.value & 7
    if (kind === LENGTH_DELIMITED) {
      const length = readVarint(bytes, at)
      at = length.next + length.value
      if (at > bytes.length) throw new Error('a field is cut off')
      fields.set(tag.value >>> 3, bytes.subarray(length.next, at))
    } else if (kind === 0) at = readVarint(bytes, at).next
    else if (kind === 1) at += 8
    else if (kind === 5) at += 4
    else throw new Error('a field of an unknown kind')
  }
  return fields
}

function readVarint(bytes: Buffer, start: number): { value: number; next: number } {
  let value = 0
  for (let at = start; at < bytes.length && at < start + 10; at += 1) {
    const byte = bytes[at] ?? 0
    value += (byte & 0x7f) * 2 ** (7 * (at - start))
    if (byte < 0x80) return { value, next: at + 1 }
  }
  throw new Error('a number is cut off')
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80)
    rest >>>= 7
  }
  return Buffer.from([...bytes, rest])
}

function field(number: number): number {
  return (number << 3) | LENGTH_DELIMITED
}

function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}
