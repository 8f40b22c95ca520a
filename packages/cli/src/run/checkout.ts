// Reads the git state of the folder that a pipeline runs in.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface Checkout {
  /** The working directory of jobs: the top of the repository, or the given folder outside a repository. */
  root: string
  branch: string
  /** The full hash, or HEAD if there is no commit. */
  commit: string
  message: string | null
  repository: string
  defaultBranch: string | null
  user: { name: string; email: string | null } | null
}

/** `folder` has the pipeline file; `fallback` is the working directory if it is in no repository. */
export async function findCheckout(folder: string, fallback: string): Promise<Checkout> {
  const top = await git(folder, 'rev-parse', '--show-toplevel')
  if (top === null) {
    const user = await findUser(fallback)
    return {
      root: fallback,
      branch: 'main',
      commit: 'HEAD',
      message: null,
      repository: fallback,
      defaultBranch: null,
      user,
    }
  }
  const [branch, commit, message, remote, defaultBranch, user] = await Promise.all([
    git(top, 'symbolic-ref', '--short', '--quiet', 'HEAD'),
    git(top, 'rev-parse', '--verify', '--quiet', 'HEAD'),
    git(top, 'log', '-1', '--format=%B'),
    git(top, 'remote', 'get-url', 'origin'),
    git(top, 'symbolic-ref', '--short', '--quiet', 'refs/remotes/origin/HEAD'),
    findUser(top),
  ])
  return {
    root: top,
    branch: branch ?? 'HEAD',
    commit: commit ?? 'HEAD',
    message,
    repository: remote ?? top,
    defaultBranch: defaultBranch?.replace(/^origin\//, '') ?? null,
    user,
  }
}

/**
 * The files that differ from the merge base, including uncommitted ones; on the base branch itself, the files of the last
 * commit. null: git failed.
 */
export async function findChangedPaths(
  { root, defaultBranch }: Checkout,
  base: string | undefined,
): Promise<string[] | null> {
  const named = base ?? `origin/${defaultBranch ?? 'main'}`
  const [fork, tip, head] = await Promise.all([
    git(root, 'merge-base', named, 'HEAD'),
    git(root, 'rev-parse', '--verify', '--quiet', `${named}^{commit}`),
    git(root, 'rev-parse', '--verify', '--quiet', 'HEAD'),
  ])
  if (fork === null) return null
  // As the agent does, so that a file that was moved counts in both places.
  const names = await git(root, 'diff', '--no-renames', '--name-only', '-z', tip === head ? 'HEAD~1' : fork)
  return names === null ? null : names.split('\0').filter((name) => name !== '')
}

async function findUser(folder: string): Promise<Checkout['user']> {
  const [name, email] = await Promise.all([
    git(folder, 'config', 'user.name'),
    git(folder, 'config', 'user.email'),
  ])
  return name === null ? null : { name, email }
}

const execute = promisify(execFile)

/** null: git is not installed or failed. */
export async function git(folder: string, ...args: string[]): Promise<string | null> {
  try {
    const { stdout } = await execute('git', ['-C', folder, ...args], { maxBuffer: 64 * 1024 * 1024 })
    return stdout.replace(/\n+$/, '')
  } catch {
    return null
  }
}
