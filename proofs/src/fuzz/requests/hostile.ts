// Bytes that no client of ours sends: broken JSON, broken HTTP, odd parts of paths.
import { gzipSync } from 'node:zlib'
import type { Dice } from '../../dice.ts'
import type { Sent } from '../client.ts'
import { pick } from './values.ts'

const segments = [
  '%00',
  '%2e%2e',
  '..',
  '.',
  '%2f',
  '%5c',
  '..%2f..%2f',
  '%252e%252e',
  '%c0%ae%c0%ae',
  '%ff',
  '%F0%9F%92%A9',
  '%ED%A0%80',
  '%zz',
  '%',
  '%e',
  '',
  'A'.repeat(499),
  'A'.repeat(501),
  'A'.repeat(9000),
  '0',
  '-1',
  '01',
  '1.0',
  '1e3',
  '2147483647',
  '2147483648',
  '99999999999999999999',
  'NaN',
  'null',
  'undefined',
  'true',
  'constructor',
  '__proto__',
  'toString',
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF',
  '%7B00000000-0000-4000-8000-000000000000%7D',
  '00000000000040008000000000000000',
  '*',
  ':org',
  '{org}',
  '%27%20or%201=1--',
  '%0d%0aX:%20y',
  '%20',
  '+',
  ';a=b',
  '~',
  'x.json',
  'latest',
  '%E2%80%AE',
] // prettier-ignore

export const oddSegment = (dice: Dice): string => pick(dice, segments)

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

/** Text that is no JSON, or JSON that a reader may handle wrongly. */
export function hostileJson(dice: Dice, valid: Buffer): Buffer {
  const text = valid.toString()
  const inner = text.slice(1, -1)
  const makers: Array<() => string | Buffer> = [
    () => text.slice(0, dice.between(0, text.length)),
    () => `${text}${text}`,
    () => `{${inner === '' ? '' : `${inner},`}${inner === '' ? '"a":1,"a":2' : inner}}`,
    () => `{${inner}${inner === '' ? '' : ','}"__proto__":{"admin":true}}`,
    () => `{${inner}${inner === '' ? '' : ','}"x":${deep(pick(dice, [63, 65, 5000]))}}`,
    () => `{${inner}${inner === '' ? '' : ','}"x":1e999}`,
    () => `{${inner}${inner === '' ? '' : ','}"x":"\\u0000"}`,
    () => `{${inner}${inner === '' ? '' : ','}"\\ud800":"\\udfff"}`,
    () => `{${inner}${inner === '' ? '' : ','}"x":[${'0,'.repeat(pick(dice, [9000, 11_000]))}0]}`,
    () => `{${inner}${inner === '' ? '' : ','}"x":"${'y'.repeat(pick(dice, [60_000, 1_100_000]))}"}`,
    () => `{${Array.from({ length: 3000 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
    () => `\ufeff${text}`,
    () => `${' '.repeat(10_000)}${text}`,
    () => text.replaceAll('"', "'"),
    () => `${text.slice(0, -1)},}`,
    () => `/* comment */${text}`,
    () => 'null',
    () => '[]',
    () => '[{}]',
    () => '"text"',
    () => '-0',
    () => 'NaN',
    () => '',
    () => ' ',
    () => '{',
    () => deep(100_000),
    () => Buffer.from(text, 'utf16le'),
    () => Buffer.concat([valid.subarray(0, -1), Buffer.from([0xff, 0xfe, 0xc0, 0x80])]),
    () => Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xed, 0xa0, 0x80, 0xff]), Buffer.from('"}')]),
    () => 'a=b&c=d',
    () => '<xml/>',
  ]
  return Buffer.from(pick(dice, makers)())
}

/** Compressed and binary bodies that are broken. */
export function hostileBytes(dice: Dice, valid: Buffer): Buffer {
  const makers: Array<() => Buffer> = [
    () => valid.subarray(0, dice.between(0, valid.length)),
    () => Buffer.concat([valid, valid]),
    () => gzipSync(valid),
    () => gzipSync(valid).subarray(0, -5),
    () => gzipSync(gzipSync(valid)),
    () => gzipSync(Buffer.alloc(20_000_000)),
    () => Buffer.concat([gzipSync(valid), Buffer.from('trailing')]),
    () => Buffer.from([0x1f, 0x8b, 8, 0xff, 0, 0, 0, 0, 0, 0]),
    () => Buffer.from([0x1f, 0x8b]),
    () => Buffer.alloc(0),
    () => Buffer.alloc(dice.between(1, 3000), dice.between(0, 255)),
    () => {
      const copy = Buffer.from(valid)
      for (let i = 0; i < 3 && copy.length > 0; i++)
        copy[dice.between(0, copy.length - 1)] = dice.between(0, 255)
      return copy
    },
  ]
  return pick(dice, makers)()
}

/** A request that is no HTTP, or contradicts itself. */
export function hostileRequest(dice: Dice, { method, path, headers, body }: Sent): Buffer {
  const lines = Object.entries({ host: 'localhost', connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  const bytes = body ?? Buffer.from('{}')
  const request = (extra: readonly string[], start = `${method} ${path} HTTP/1.1`, payload: Buffer = bytes) =>
    Buffer.concat([Buffer.from(`${[start, ...lines, ...extra].join('\r\n')}\r\n\r\n`, 'latin1'), payload])
  const length = `content-length: ${bytes.length}`
  const makers: Array<() => Buffer> = [
    () => request([`content-length: ${bytes.length + 10}`]),
    () => request([`content-length: ${Math.max(0, bytes.length - 1)}`]),
    () => request(['content-length: -1']),
    () => request(['content-length: 99999999999999999999']),
    () => request([length, 'content-length: 1']),
    () => request([length, 'transfer-encoding: chunked']),
    () => request(['transfer-encoding: chunked'], undefined, Buffer.from('zz\r\n')),
    () => request(['transfer-encoding: chunked'], undefined, Buffer.from('5\r\nab')),
    () => request(['transfer-encoding: chunked'], undefined, Buffer.from('2\r\n{}\r\n0\r\n\r\n')),
    () => request(['transfer-encoding: chunked, gzip']),
    () => request([length], `${method} ${path} HTTP/1.0`),
    () => request([length], `${method} ${path} HTTP/9.9`),
    () => request([length], `${method}  ${path}`),
    () => request([length], `FUZZ ${path} HTTP/1.1`),
    () => request([length], `${method} http://evil.example.com${path} HTTP/1.1`),
    () => request([length], `${method} * HTTP/1.1`),
    () => request([length], `${method} ${path}\0 HTTP/1.1`),
    () => request([length], `${method} ${path} ${path} HTTP/1.1`),
    () => request([length], `${method} ${path.replaceAll('/', '\\')} HTTP/1.1`),
    () => request([length], `${method} ${path}\xff\xfe HTTP/1.1`),
    () => request([length, 'x: a\0b']),
    () => request([length, ': no name']),
    () => request([length, 'no colon']),
    () => request([length, ' folded: line']),
    () => request([length, `x-long: ${'x'.repeat(20_000)}`]),
    () => request([length, ...Array.from({ length: 3000 }, (_, i) => `x-${i}: y`)]),
    () => request([length, 'expect: 100-continue']),
    () => request([length, 'expect: 200-maybe']),
    () => request([length, 'upgrade: websocket', 'connection: upgrade']),
    () => request([length, 'upgrade: h2c', 'http2-settings: AAAA']),
    () => request([length, 'host: a', 'host: b']),
    () => Buffer.concat([request([length]), request([length])]),
    () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    () => Buffer.from('\x16\x03\x01\x02\x00\x01\x00', 'latin1'),
    () => Buffer.from('\r\n\r\n'),
    () => Buffer.from(`${method} ${path}`),
  ]
  return pick(dice, makers)()
}
