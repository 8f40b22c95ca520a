// Answers what Node cannot read as a request. No hook and no error handler is called for it.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

const answers: Readonly<Record<string, [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: [431, 'The URL and the headers of a request may have 16 KiB in all.'],
}

/** The connection is closed, and the client is told so: otherwise it would send its next request on it. */
export function answerUnreadable({ code = '' }: { code?: string }, socket: Socket): void {
  if (!socket.writable) return
  const [status, message] = answers[code] ?? [400, 'The request is not valid HTTP.']
  const body = JSON.stringify({ message })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}
