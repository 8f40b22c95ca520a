import { InvalidArgumentError, type Command } from 'commander'
import { command, print, type Output } from '../../command.ts'

export const archiveList = (): Command =>
  command('list', 'List the archived builds of a pipeline, newest first.', 'archive list acme web --limit 20')
    .argument('<org>', 'the organization')
    .argument('<pipeline>', 'the slug of the pipeline')
    .option('--limit <number>', 'how many at most', readLimit, 100)
    .action(async (organization: string, pipeline: string, options: Output & { limit: number }) => {
      const { listArchives } = await import('@millrace/server/main.ts')
      const archives = await listArchives(process.env, { organization, pipeline }, options.limit)
      const lines = archives.map(({ number, state, branch, finished_at, message }) => {
        const [title = ''] = (message ?? '').split('\n')
        return `#${number}  ${state}  ${finished_at}  ${branch}  ${title}`
      })
      print(options, archives, lines.join('\n') || 'No build of this pipeline is archived.')
    })

function readLimit(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a whole number from 1.')
}
