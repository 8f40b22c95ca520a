// A command that repeats a request.
import type { Attempt } from './attempt.ts'

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const longestBody = 3000

export function curlOf(address: string, { method, path, headers, body, raw }: Attempt): string {
  if (raw !== null) {
    const { hostname, port } = new URL(address)
    return `printf %s ${quote(raw.subarray(0, longestBody).toString('base64'))} | base64 -d | nc ${hostname} ${port}`
  }
  const given = Object.entries(headers).map(([name, value]) =>
    value === '' ? `-H ${quote(`${name};`)}` : `-H ${quote(`${name}: ${value}`)}`,
  )
  const curl = `curl -sS -i --path-as-is -X ${method} ${given.join(' ')} ${quote(address + path)}`
  if (body === null) return curl
  const isText = body.length < longestBody && /^[\x20-\x7e]*$/.test(body.toString('latin1'))
  if (isText) return `${curl} --data-binary ${quote(body.toString())}`
  const bytes = body.subarray(0, longestBody).toString('base64')
  const cut = body.length > longestBody ? ` # the first ${longestBody} of ${body.length} bytes` : ''
  return `printf %s ${quote(bytes)} | base64 -d | ${curl} --data-binary @-${cut}`
}
