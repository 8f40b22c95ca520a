// Keeps docs/guide true: its pipelines are linted, its JSON is parsed, and its commands run against a server with an agent.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { problemsOf, runInShell, withShell, type Ran } from './blocks-in-shell.ts'
import { readBlocks, runBlocks, type RunBlock } from './markdown-blocks.ts'
import { aDirectory, aSharedDirectory, millrace, theServer } from './millrace.ts'

const root = fileURLToPath(new URL('../docs/guide/', import.meta.url))
const pages = readdirSync(root).filter((name) => name.endsWith('.md'))
const blocksOf = (page: string) => readBlocks(readFileSync(join(root, page), 'utf8'))

/** A block that is not checked, or not run, gives its reason there. */
const MARKS = new Map([
  // gitea-guide.test.ts runs those that need a Gitea.
  ['sh', /^(?:run|setup|gitea|not-run: \S.*)$/],
  ['yaml', /^(?:|other: \S.*)$/],
  ['json', /^$/],
  ['text', /^(?:|output)$/],
  ['groovy', /^other: \S.*$/],
])
/** Other products' files, clouds and other machines. */
const MOST_UNCHECKED = 12

describe.each(pages)('docs/guide/%s', (page) => {
  const blocks = blocksOf(page)

  it('marks every block', () => {
    const unknown = blocks.filter(({ language, mark }) => !(MARKS.get(language)?.test(mark) ?? false))
    expect(unknown.map(({ line, language, mark }) => `${line}: ${language} ${mark}`)).toEqual([])
  })

  it('has pipelines that `millrace pipeline lint` accepts', async () => {
    const pipelines = blocks.filter(({ language, mark }) => language === 'yaml' && mark === '')
    if (pipelines.length === 0) return
    const file = join(aDirectory(), 'pipeline.yml')
    writeFileSync(file, pipelines.map(({ text }) => `---\n${text}`).join(''))
    const { code, stdout, stderr } = await millrace(['pipeline', 'lint', file, '--json'], {})
    expect({ code, stderr, ...(JSON.parse(stdout) as object) }).toMatchObject({
      code: 0,
      ok: true,
      problems: [],
      warnings: [],
    })
  })

  it('has JSON that can be read', () => {
    const unreadable = blocks.filter(({ language, text }) => language === 'json' && !isJson(text))
    expect(unreadable.map(({ line }) => line)).toEqual([])
  })

  const commands = runBlocks(blocks)
  if (commands.length === 0) return
  withShell.it('has commands that do what it says', async () => {
    expect(problemsOf(commands, await runCommands(commands))).toEqual([])
  })
})

it('leaves few blocks of docs/guide unchecked', () => {
  const unchecked = pages.flatMap(blocksOf).filter(({ mark }) => /^(?:not-run|other): /.test(mark))
  expect(unchecked.length).toBeLessThanOrEqual(MOST_UNCHECKED)
})

/** Jobs run as another user and read repositories in the folder. */
function runCommands(commands: readonly RunBlock[]): Promise<Ran> {
  const server = theServer()
  const setup = blocksOf('README.md').filter(({ language, mark }) => language === 'sh' && mark === 'setup')
  return runInShell(commands, {
    folder: aSharedDirectory(),
    before: setup.map(({ text }) => text),
    settings: { MILLRACE_URL: server.url, MILLRACE_TOKEN: server.token, MILLRACE_ORG: 'default' },
  })
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
