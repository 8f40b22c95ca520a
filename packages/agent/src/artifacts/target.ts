// Where a downloaded artifact is written. Paths of artifacts come from jobs, so a file is never written outside the chosen
// folder, and no link is followed.
import { lstat, mkdir, realpath } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'

export interface Target {
  /** The working folder. */
  folder: string
  /** As it was asked for. */
  destination: string
}

/** The path of the downloaded file. Throws if it is not below the destination. */
export function targetPath(artifactPath: string, { folder, destination }: Target): string {
  const root = resolve(folder, destination)
  const segments = artifactPath.split('/')
  const isPlain = segments.every((name) => name !== '' && name !== '.' && name !== '..')
  if (!isPlain || /[\\\0]/.test(artifactPath)) {
    throw new Error(`the artifact path ${JSON.stringify(artifactPath)} is not safe to write`)
  }
  // `download 'logs/*' logs/` writes to logs, not to logs/logs.
  const named = destination.replace(/^(\.\/)+/, '')
  const isRepeated = named.endsWith('/') && artifactPath.startsWith(named)
  return join(root, isRepeated ? artifactPath.slice(named.length) : artifactPath)
}

/** Every folder on the way is a real one below the destination, not a link to somewhere else. */
export async function makeFolder(root: string, folder: string): Promise<void> {
  await mkdir(root, { recursive: true })
  const realRoot = await realpath(root)
  const names = folder
    .slice(root.length)
    .split(sep)
    .filter((name) => name !== '')
  let current = realRoot
  for (const name of names) {
    current = join(current, name)
    await mkdir(current).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    })
    if (!(await lstat(current)).isDirectory()) throw new Error(`${current} is not a folder`)
  }
}
