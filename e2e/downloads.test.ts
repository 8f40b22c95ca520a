import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { runDownloadedAgent } from './downloaded-agent.ts'
import { theServer } from './millrace.ts'

it('downloads: a server of a clone hands out its agent, which runs a job without a registry', async () => {
  expect(await runDownloadedAgent(theServer())).toBe('passed')
})

const root = fileURLToPath(new URL('..', import.meta.url))

/** What people read, and the sources of all that programs print and pages show. */
const texts = ['docs', 'deploy', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`)]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .concat('README.md', 'Dockerfile', 'SECURITY.md')
  .filter((path) => !path.endsWith('.test.ts') && statSync(join(root, path)).isFile())

const installers =
  /\b(?:npx|npm (?:exec|install|i|add)|pnpm (?:dlx|add)|yarn (?:dlx|add)|bunx)((?: +[^\s`'"\\;|&)]+)+)/g

/** A name that npm looks for in the public registry, unless the folder has its program. */
const isName = (word: string) => /^@?millrace[\w-]*(?:\/[\w-]+)?(?:@[\w.-]+)?$/.test(word)

/** In the clone, and in the folder where the package is installed, `npx millrace` is their program. Agents run elsewhere. */
const isOfFolder = (command: string) =>
  /^npx millrace(?: |$)/.test(command) && (!command.includes(' agent start') || command.endsWith('--help'))

it('downloads: no text hands out a command that fetches our name from a public registry', () => {
  expect(texts.length).toBeGreaterThan(500)
  const commands = texts.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(installers)].map(([command, words = '']) => ({
      path,
      command,
      // After `--` is the program to run, of a package that is named before it.
      names: (words.split(' -- ')[0] ?? '').split(/ +/).filter((word) => isName(word)),
    })),
  )
  expect(commands.filter(({ command, names }) => names.length > 0 && isOfFolder(command))).not.toEqual([])
  expect(commands.filter(({ command, names }) => names.length > 0 && !isOfFolder(command))).toEqual([])
})
