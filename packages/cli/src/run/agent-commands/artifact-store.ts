// The artifacts of one local build. They are copies, so that later changes of a file do not change its artifact.
import { createHash, randomUUID } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { targetPath } from '@millrace/agent/artifacts/target.ts'
import { findFiles } from '@millrace/agent/artifacts/find.ts'
import { compileGlob } from '@millrace/engine/globs.ts'

export interface Artifact {
  id: string
  path: string
  jobId: string
  createdAt: string
  sizeBytes: number
  sha1: string
  sha256: string
  /** The path of the copy. */
  file: string
}

export class ArtifactStore {
  private readonly folder: string
  private readonly artifacts: Artifact[] = []

  constructor(folder: string) {
    this.folder = folder
  }

  /** Patterns are separated by semicolons. Returns the paths of the files that match. */
  async upload(jobId: string, patterns: string, cwd: string): Promise<string[]> {
    const files = await findFiles(patterns, cwd)
    mkdirSync(this.folder, { recursive: true })
    for (const { path, absolutePath } of files) {
      const id = randomUUID()
      const file = join(this.folder, id)
      copyFileSync(absolutePath, file)
      const bytes = readFileSync(file)
      const hash = (name: string) => createHash(name).update(bytes).digest('hex')
      this.artifacts.push({
        id,
        path,
        jobId,
        createdAt: new Date().toISOString(),
        sizeBytes: statSync(file).size,
        sha1: hash('sha1'),
        sha256: hash('sha256'),
        file,
      })
    }
    return files.map(({ path }) => path)
  }

  /** In upload order. null: the pattern is malformed. */
  find(query: string, isWanted: (jobId: string) => boolean): Artifact[] | null {
    const matches = compileGlob(searchPattern(query))
    if (matches === null) return null
    return this.artifacts.filter(({ path, jobId }) => isWanted(jobId) && matches(path))
  }
}

/** The newest artifact of each path. */
export function withoutDuplicates(artifacts: readonly Artifact[]): Artifact[] {
  return [...new Map(artifacts.map((artifact) => [artifact.path, artifact])).values()]
}

/** Returns the path of the file. Throws if it is outside the destination. */
export function copyTo({ path, file }: Artifact, to: { folder: string; destination: string }): string {
  const target = targetPath(path, to)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(file, target)
  return target
}

/** In a search `*` crosses slashes, as it does on the server. */
function searchPattern(query: string): string {
  return query
    .replace(/^(\.\/)+/, '')
    .replaceAll(/\*{2,}\/|\*+/g, (stars) => (stars.endsWith('/') ? stars : '**'))
}
