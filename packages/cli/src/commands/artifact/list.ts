import type { Command } from 'commander'
import type { ArtifactOptions } from '../../client/artifact/find.ts'
import { artifactCommand } from './options.ts'

export const artifactList = (): Command =>
  artifactCommand('list', 'List the artifacts of a build.', "artifact list 12 --path 'logs/*'").action(
    async (build: string | undefined, options: ArtifactOptions) => {
      const { listArtifacts } = await import('../../client/artifact/list.ts')
      await listArtifacts(build, options)
    },
  )
