import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { step } from './progress.mjs'

function anOutput(isTTY: boolean) {
  const written: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk))
      done()
    },
  })
  return { output: Object.assign(stream, { isTTY }), text: () => written.join('') }
}

it('prints a line when a part begins, and one with its seconds when it ends', async () => {
  const { output, text } = anOutput(false)
  expect(await step('Compiling', async () => 'done', output)).toBe('done')
  expect(text()).toMatch(/^Compiling…\nCompiling: \d+ s\n$/)
})

it('moves a sign in a terminal, and leaves one line', async () => {
  const { output, text } = anOutput(true)
  const untilTurned = async () => {
    await expect.poll(() => text().split('Compiling').length).toBeGreaterThan(3)
  }
  await step('Compiling', untilTurned, output)
  const lines = text().split('\r\u001B[K')
  expect(new Set(lines.map((line) => line.at(0))).size).toBeGreaterThan(2)
  expect(lines.at(-1)).toMatch(/^✓ Compiling \d+ s\n$/)
})

it('leaves nothing in a terminal of a part that fails', async () => {
  const { output, text } = anOutput(true)
  const failing = step('Compiling', () => Promise.reject(new Error('no')), output)
  await expect(failing).rejects.toThrow('no')
  expect(text().endsWith('\r\u001B[K')).toBe(true)
})
