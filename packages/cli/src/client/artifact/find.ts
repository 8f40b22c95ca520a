import type { Artifact } from '@millrace/server/wire.ts'
import { listAll, type Api } from '../api.ts'
import { findBuild, type BuildOptions } from '../find-build.ts'

export interface ArtifactOptions extends BuildOptions {
  path?: string[]
  job?: string
}

interface FoundArtifacts {
  api: Api
  /** Of the build, for messages. */
  name: string
  artifacts: Artifact[]
}

/** The artifacts of a build that match one of the patterns, oldest first. */
export async function findArtifacts(
  build: string | undefined,
  options: ArtifactOptions,
  state?: Artifact['state'],
): Promise<FoundArtifacts> {
  const { api, path, name, job: named } = await findBuild(build, options)
  const job = options.job ?? named
  const found = new Map<string, Artifact>()
  for (const pattern of options.path ?? [undefined]) {
    const query = new URLSearchParams()
    if (state !== undefined) query.set('state', state)
    if (pattern !== undefined) query.set('path', pattern)
    for (const artifact of await listAll(api.pages<Artifact>(`${path}/artifacts?${query.toString()}`))) {
      if (job === null || artifact.job_id === job) found.set(artifact.id, artifact)
    }
  }
  return { api, name, artifacts: [...found.values()] }
}
