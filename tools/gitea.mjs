/*
 * Builds Gitea from its Go module, without the files of its pages, for the tests that meet a real source host. It takes some
 * minutes once; afterwards `npm test -- e2e/gitea` finds it below node_modules/.cache.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const version = 'v1.26.0'
const tags = 'sqlite,sqlite_unlock_notify'
const home = join(root, 'node_modules', '.cache', 'gitea')

if (existsSync(join(home, 'gitea'))) {
  console.log(`Gitea is there already: ${home}`)
} else {
  build()
  console.log(`Built Gitea ${version}: ${home}`)
}

function build() {
  const unfinished = `${home}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const { Dir: source } = JSON.parse(
    go(unfinished, 'mod', 'download', '-json', `code.gitea.io/gitea@${version}`),
  )
  const sources = join(unfinished, 'src')
  // Files of Go's module cache are read-only.
  cpSync(source, sources, { recursive: true, mode: 0 })
  spawnSync('chmod', ['-R', 'u+w', sources])
  const set = `-X "main.Version=${version.slice(1)}"`
  go(sources, 'build', '-tags', tags, '-ldflags', set, '-o', join(unfinished, 'gitea'), '.')
  for (const folder of ['options', 'templates', 'public'])
    renameSync(join(sources, folder), join(unfinished, folder))
  rmSync(sources, { recursive: true, force: true })
  renameSync(unfinished, home)
}

function go(cwd, ...args) {
  const { status, error, stdout } = spawnSync('go', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: Infinity,
  })
  if (status === 0) return stdout
  console.error(error === undefined ? `go ${args[0]} failed.` : 'Go is needed, with a C compiler.')
  process.exit(1)
}
