import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readSecret } from '../api/secrets.ts'
import { JobFailure, MissingRevision } from './failure.ts'
import { addGitConfig, mustGit, readGit, runGit } from './git-process.ts'
import { mirrorName } from './mirror.ts'
import { resetRepository } from './reset-repository.ts'
import { isTrue } from './run.ts'
import type { JobRun } from './run.ts'

const BRANCHES = '+refs/heads/*:refs/remotes/origin/*'

/** A name from outside must not be parsed as an option of git, nor an address as a command. */
export function refuseOptions({ env }: JobRun): void {
  if (runsCommand(env['BUILDKITE_REPO'] ?? '')) throw new JobFailure('BUILDKITE_REPO cannot name a command')
  for (const name of ['BUILDKITE_REPO', 'BUILDKITE_COMMIT', 'BUILDKITE_BRANCH', 'BUILDKITE_TAG']) {
    if ((env[name] ?? '').startsWith('-')) throw new JobFailure(`${name} cannot start with "-"`)
  }
}

/** `ext::` makes git run the address as a command, `fd::` makes it use an open file descriptor. */
export function runsCommand(repository: string): boolean {
  return /^(ext|fd)::/i.test(repository.trim())
}

export async function fetchAndCheckOut(run: JobRun): Promise<void> {
  const repository = run.env['BUILDKITE_REPO'] ?? ''
  const isFresh = !(await exists(join(run.checkoutPath, '.git')))
  if (!isFresh) {
    if (!(await resetRepository(run))) throw new JobFailure('the old checkout cannot be used again')
    await mustGit(run, ['config', 'remote.origin.url', repository])
    if (await hasFiles(run)) await clean(run)
  } else {
    const sparse = isSparse(run) ? ['--no-checkout'] : []
    const flags = [...flagsOf(run, 'CLONE', '-v'), ...sparse, ...(await referenceTo(run, repository))]
    await sayIfHidden(run, repository)
    await mustGit(run, ['clone', ...flags, '--', repository, '.'])
  }
  const target = await fetchCommit(run)
  if (isSparse(run)) await limitPaths(run)
  else if (!isFresh) await allowAllPaths(run)
  await mustGit(run, ['checkout', ...flagsOf(run, 'CHECKOUT', '-f'), target])
  if (run.env['BUILDKITE_GIT_COMMIT_VERIFICATION'] === 'strict') await verifyCommit(run)
  await updateSubmodules(run)
  if (isTrue(run.env['BUILDKITE_GIT_LFS_ENABLED'])) await mustGit(run, ['lfs', 'pull'])
  await clean(run)
}

/** A repository of the machine may be a folder that jobs do not see. */
async function sayIfHidden({ settings, log }: JobRun, repository: string): Promise<void> {
  const path = repository.replace(/^file:\/\//, '')
  if (settings.missingHint === null || !path.startsWith('/') || (await exists(path))) return
  log.say(`# There is no ${path}. ${settings.missingHint}`)
}

/** Clones use the objects of the mirror. Mirrors only grow, so the objects stay. */
async function referenceTo({ settings: { mirrorsPath } }: JobRun, repository: string): Promise<string[]> {
  const mirror = mirrorsPath === null ? null : join(mirrorsPath, mirrorName(repository))
  return mirror !== null && (await exists(join(mirror, 'HEAD'))) ? ['--reference', mirror] : []
}

/** The commit's details for the build; null if git fails. */
export async function describeCommit(run: JobRun): Promise<string | null> {
  const format = 'commit %H%nabbrev-commit %h%nAuthor: %an <%ae>%n%n%w(0,4,4)%B'
  return await readGit(run, ['--no-pager', 'log', '-1', 'HEAD', '-s', '--no-color', `--format=${format}`])
}

/** Returns what to check out. */
async function fetchCommit(run: JobRun): Promise<string> {
  const { env } = run
  const commit = env['BUILDKITE_COMMIT'] ?? 'HEAD'
  const branch = env['BUILDKITE_BRANCH'] ?? ''
  const skipsKnown = isTrue(env['BUILDKITE_GIT_SKIP_FETCH_EXISTING_COMMITS'])
  if (skipsKnown && commit !== 'HEAD' && (await hasCommit(run, commit))) return commit
  const refspec = (env['BUILDKITE_REFSPEC'] ?? '').split(/\s+/).filter((word) => word !== '')
  const pull = pullRequestRef(env)
  if (refspec.length > 0) {
    await fetchNamed(run, refspec, `ref ${refspec.join(' ')}`)
    return commit === 'HEAD' ? 'FETCH_HEAD' : commit
  }
  if (pull !== null) {
    await fetchNamed(run, [pull], `ref ${pull}`)
    return commit === 'HEAD' || pull.endsWith('/merge') ? 'FETCH_HEAD' : commit
  }
  if (commit === 'HEAD') {
    const tag = env['BUILDKITE_TAG'] ?? ''
    if (tag === '') await fetchNamed(run, [branch], `branch ${branch}`)
    else await fetchNamed(run, [`refs/tags/${tag}`], `tag ${tag}`)
    return 'FETCH_HEAD'
  }
  // Some servers refuse to send a commit by its hash, but all send branches and tags.
  const direct = await runGit(run, fetchArguments(run, [commit]))
  if (direct.exitStatus === 0) return /^[0-9a-f]{7,64}$/i.test(commit) ? commit : 'FETCH_HEAD'
  run.log.say('# The commit cannot be fetched by name, so all branches and tags are fetched.')
  await mustGit(run, fetchArguments(run, [BRANCHES, '+refs/tags/*:refs/tags/*']))
  if (!(await hasCommit(run, commit)))
    throw new MissingRevision(`the repository has no commit ${commit} on a branch or tag. ${pushIt}`)
  return commit
}

const pushIt = 'Push it, or start a build of something that is there.'

/** `+refs/a:refs/b` fetches refs/a. ls-remote would also find a short name at the end of longer ones. */
function patternsOf(refspec: string): string[] {
  const [name = ''] = refspec.replace(/^\+/, '').split(':')
  if (name === 'HEAD' || name.startsWith('refs/')) return [name]
  return [`refs/${name}`, `refs/heads/${name}`, `refs/tags/${name}`]
}

/** Tells a ref that is not there from a repository that does not answer. */
async function fetchNamed(run: JobRun, refspecs: readonly string[], what: string): Promise<void> {
  try {
    await mustGit(run, fetchArguments(run, refspecs))
  } catch (error) {
    const found = await Promise.all(
      refspecs.map((refspec) => readGit(run, ['ls-remote', '--', 'origin', ...patternsOf(refspec)])),
    )
    if (found.includes('')) throw new MissingRevision(`the repository has no ${what}. ${pushIt}`)
    throw error
  }
}

function fetchArguments(run: JobRun, refspecs: readonly string[]): string[] {
  return ['fetch', ...flagsOf(run, 'FETCH', '-v --prune'), '--', 'origin', ...refspecs]
}

function pullRequestRef(env: Readonly<Record<string, string>>): string | null {
  const pull = env['BUILDKITE_PULL_REQUEST'] ?? 'false'
  const isGithub = (env['BUILDKITE_PIPELINE_PROVIDER'] ?? '').includes('github')
  if (pull === 'false' || pull === '' || !isGithub) return null
  return `refs/pull/${pull}/${isTrue(env['BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC']) ? 'merge' : 'head'}`
}

async function verifyCommit(run: JobRun): Promise<void> {
  const branch = run.env['BUILDKITE_BRANCH'] ?? ''
  const isElsewhere = pullRequestRef(run.env) !== null || (run.env['BUILDKITE_TAG'] ?? '') !== ''
  if (isElsewhere || run.env['BUILDKITE_COMMIT'] === 'HEAD') return
  await mustGit(run, ['fetch', '--', 'origin', `+refs/heads/${branch}:refs/remotes/origin/${branch}`])
  const end = await runGit(run, ['merge-base', '--is-ancestor', 'HEAD', `refs/remotes/origin/${branch}`])
  if (end.exitStatus !== 0) throw new JobFailure(`the commit is not on the branch ${branch}`)
}

async function limitPaths(run: JobRun): Promise<void> {
  const paths = (run.env['BUILDKITE_GIT_SPARSE_CHECKOUT_PATHS'] ?? '')
    .split(',')
    .filter((path) => path !== '')
  const mode = run.env['BUILDKITE_GIT_SPARSE_CHECKOUT_MODE'] === 'no-cone' ? '--no-cone' : '--cone'
  await mustGit(run, ['sparse-checkout', 'set', mode, '--', ...paths])
}

/** An earlier job may have restricted the refspecs. */
async function allowAllPaths(run: JobRun): Promise<void> {
  const isLimited = isTrue((await readGit(run, ['config', '--get', 'core.sparseCheckout'])) ?? '')
  if (isLimited) await mustGit(run, ['sparse-checkout', 'disable'])
}

async function updateSubmodules(run: JobRun): Promise<void> {
  const isOff = run.env['BUILDKITE_GIT_SUBMODULES'] === 'false' || isSparse(run)
  if (isOff || !(await exists(join(run.checkoutPath, '.gitmodules')))) return
  await mustGit(run, ['submodule', 'sync', '--recursive'])
  await mustGit(run, ['submodule', 'update', '--init', '--recursive', '--force'])
  await mustGit(run, ['submodule', 'foreach', '--recursive', 'git reset --hard'])
}

async function clean(run: JobRun): Promise<void> {
  const flags = flagsOf(run, 'CLEAN', '-ffxdq')
  await mustGit(run, ['clean', ...flags])
  if (
    run.env['BUILDKITE_GIT_SUBMODULES'] === 'false' ||
    !(await exists(join(run.checkoutPath, '.gitmodules')))
  )
    return
  await mustGit(run, ['submodule', 'foreach', '--recursive', 'git', 'clean', ...flags])
}

/** Disables git's prompts and configures its credentials. */
export async function useCredentials(run: JobRun): Promise<void> {
  const { env, job } = run
  env['GIT_TERMINAL_PROMPT'] = '0'
  const sshSecret = isObject(job.step?.checkout) ? job.step.checkout['ssh_secret'] : undefined
  if (typeof sshSecret === 'string' && env['GIT_SSH_COMMAND'] === undefined) {
    const { value } = await readSecret(run.api, job.id, sshSecret)
    run.log.hide([value])
    const keyFile = join(run.makeFolder(), 'ssh-key')
    await writeFile(keyFile, value.endsWith('\n') ? value : `${value}\n`, { mode: 0o600 })
    env['GIT_SSH_COMMAND'] = `ssh -i '${keyFile}' -o IdentitiesOnly=yes -o StrictHostKeyChecking=accept-new`
  }
  const usesProvider =
    isTrue(env['BUILDKITE_USE_REPOSITORY_PROVIDER_GIT_CREDENTIALS']) ||
    isTrue(env['BUILDKITE_USE_GITHUB_APP_GIT_CREDENTIALS'])
  if (usesProvider) {
    addGitConfig(env, 'credential.useHttpPath', 'true')
    addGitConfig(env, 'credential.helper', '!buildkite-agent git-credentials-helper')
  }
}

function flagsOf(
  { env }: JobRun,
  kind: 'CLONE' | 'FETCH' | 'CHECKOUT' | 'CLEAN',
  fallback: string,
): string[] {
  return (env[`BUILDKITE_GIT_${kind}_FLAGS`] ?? fallback).split(/\s+/).filter((flag) => flag !== '')
}

function isSparse({ env }: JobRun): boolean {
  return (env['BUILDKITE_GIT_SPARSE_CHECKOUT_PATHS'] ?? '') !== ''
}

async function hasCommit(run: JobRun, commit: string): Promise<boolean> {
  return (await readGit(run, ['rev-parse', '--verify', '--quiet', `${commit}^{commit}`])) !== null
}

async function hasFiles(run: JobRun): Promise<boolean> {
  return await hasCommit(run, 'HEAD')
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
