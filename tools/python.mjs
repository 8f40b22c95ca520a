// Finds a Python that has some packages of PyPI, for programs that tests and benchmarks run beside ours.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

/**
 * The system's Python if it can import `module`, else one in a new environment below node_modules/.cache with `packages`.
 * Throws a message that the reader can act on.
 */
export function pythonWith(module, packages) {
  const has = (python) => spawnSync(python, ['-c', `import ${module}`]).status === 0
  if (has('python3')) return 'python3'
  const home = join(root, 'node_modules', '.cache', packages[0].replace('==', '-'))
  const python = join(home, 'bin', 'python')
  if (existsSync(python) && has(python)) return python
  console.error(`Setting up ${packages.join(', ')} in ${home}…`)
  rmSync(home, { recursive: true, force: true })
  runOrThrow('python3', ['-m', 'venv', home], 'Python 3 with its venv module is needed')
  runOrThrow(
    python,
    ['-m', 'pip', 'install', '--quiet', ...packages],
    `pip could not install ${packages.join(', ')}`,
  )
  return python
}

function runOrThrow(command, args, problem) {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${problem}: ${String(error ?? stderr).trim()}`)
}
