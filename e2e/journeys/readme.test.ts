// Pastes the commands of the README, one block after the other, against a server of its own.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { problemsOf, runInShell, withShell } from '../blocks-in-shell.ts'
import { readBlocks, runBlocks } from '../markdown-blocks.ts'
import { aDataDirectory, aSharedDirectory, startServer } from '../millrace.ts'

const blocks = readBlocks(readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8'))

/** People look a moment later, when jobs have ended. */
const settle = `while api "$API/builds" | show 'body.some(({ jobs }) => jobs.some(({ state }) => /^(scheduled|assigned|accepted|running)$/.test(state)))' | grep -q true; do sleep 0.2; done`

describe('README.md', () => {
  it('marks every block', () => {
    const unmarked = blocks.filter(
      ({ language, mark }) => !/^(sh (run|not-run: .+)|text output)$/.test(`${language} ${mark}`),
    )
    expect(unmarked.map(({ line }) => line)).toEqual([])
  })

  withShell.it('has commands that do what it says', async () => {
    const server = await startServer({ MILLRACE_DATA_DIR: aDataDirectory() })
    const here = (text: string) =>
      text.replace('mrt_...', server.token).replace('http://127.0.0.1:3000', server.url)
    const commands = runBlocks(blocks).map((block) => ({ ...block, text: here(block.text) }))
    const ran = await runInShell(commands, { folder: aSharedDirectory(), settings: {}, between: settle })
    expect(problemsOf(commands, ran)).toEqual([])
  })
})
