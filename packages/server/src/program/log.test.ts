import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

const log = new URL('../../dist/program/log.js', import.meta.url).href

/** The standard error of a separate program. */
function run(end: string): string[] {
  const program = `
    import { openLog } from ${JSON.stringify(log)}
    const log = openLog('info')
    for (let n = 1; n <= 50; n++) log.info({ n }, 'A line.')
    ${end}`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  return stderr.split('\n').filter((line) => line.startsWith('{"level"'))
}

it.each([
  ['has nothing more to do', ''],
  ['is ended', 'process.exit(3)'],
  ['fails', 'throw new Error("a bug")'],
])('every line is written when the process %s, each once and in order', (_when, end) => {
  const numbers = run(end).map((line) => (JSON.parse(line) as { n: number }).n)
  expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
})
