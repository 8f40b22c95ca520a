import fc from 'fast-check'
import { expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { WholeMessages } from './socket.ts'

const app = useApp()

const message = (body: Uint8Array) => {
  const head = Buffer.from('D....')
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

it('hands on the same messages, whole, however they are cut on their way', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 }),
      fc.array(fc.nat({ max: 30 }), { minLength: 1 }),
      (bodies, cuts) => {
        const sent = Buffer.concat(bodies.map(message))
        const messages = new WholeMessages()
        const memory = Buffer.alloc(31)
        const got: Buffer[] = []
        for (let at = 0, turn = 0; at < sent.length; turn++) {
          const size = Math.min(1 + (cuts[turn % cuts.length] ?? 0), sent.length - at)
          sent.copy(memory, 0, at, at + size)
          messages.read(memory.subarray(0, size), (whole) => got.push(Buffer.from(whole)))
          memory.fill(0)
          at += size
        }
        expect(Buffer.concat(got).equals(sent)).toBe(true)
        for (const whole of got) expect(wholeMessagesIn(whole)).toBe(true)
      },
    ),
  )
})

function wholeMessagesIn(bytes: Buffer): boolean {
  let at = 0
  while (at < bytes.length) at += 1 + bytes.readUInt32BE(at + 1)
  return at === bytes.length
}

it('reads rows that are longer than one read, short ones between them, and several connections at once', async () => {
  const lengths = [3, 200_000, 1, 65_536, 3_000_000, 64, 70_000]
  const text = `select n, repeat(n::text || 'é', l) as long from unnest($1::int[]) with ordinality as a (l, n)`
  const results = await Promise.all(
    Array.from({ length: 4 }, () => app.database.pool.query<{ n: number; long: string }>(text, [lengths])),
  )
  for (const { rows } of results) {
    expect(rows.map(({ n, long }) => long === `${n}é`.repeat(lengths[n - 1] ?? 0))).toEqual(
      lengths.map(() => true),
    )
  }
})
