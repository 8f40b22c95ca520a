import { InvalidArgumentError, type Command } from 'commander'
import type { DownloadOptions } from '../../client/artifact/download.ts'
import { readCount } from '../../client/command.ts'
import { notBlank } from '../../command.ts'
import { artifactCommand } from './options.ts'

export const artifactDownload = (): Command =>
  artifactCommand(
    'download',
    'Download artifacts of a build.',
    "artifact download 12 --path 'dist/*' --path '*.xml' --to results",
  )
    .option('--to <folder>', 'where to', notBlank, '.')
    .option('--by-job', 'each job into a folder of its own, named by its id')
    .option('--parallel <count>', 'how many at a time', readParallel, 4)
    .action(async (build: string | undefined, options: DownloadOptions) => {
      const { downloadArtifacts } = await import('../../client/artifact/download.ts')
      await downloadArtifacts(build, options)
    })

function readParallel(text: string): number {
  const number = readCount(text)
  if (number <= 64) return number
  throw new InvalidArgumentError('It must be at most 64.')
}
