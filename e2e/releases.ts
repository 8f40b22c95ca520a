// Finds the release before the checked-out commit.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A release adds a heading with its version and date to the changelog. */
const heading = String.raw`^## [0-9]+\.[0-9]+\.[0-9]+ \(`

/**
 * The commit of the newest release before HEAD, so that a release is compared with the one before it. Until there is one, the
 * commit in the file `e2e/previous-release`.
 */
export function findPreviousRelease(clone: string): string {
  const git = (...args: string[]) => spawnSync('git', ['-C', clone, ...args], { encoding: 'utf8' })
  const search = ['log', '-1', '--format=%H', '--pickaxe-regex', '-S', heading]
  const commit = git(...search, 'HEAD^@', '--', 'CHANGELOG.md').stdout.trim()
  // The oldest commit of a shallow clone looks as if it had added everything.
  const isKnown = commit !== '' && git('rev-parse', '-q', '--verify', `${commit}^`).status === 0
  return isKnown ? commit : readFileSync(join(clone, 'e2e', 'previous-release'), 'utf8').trim()
}
