import { InvalidArgumentError, type Command } from 'commander'
import { command, type Output } from '../../command.ts'

export const archiveShow = (): Command =>
  command('show', 'Print everything that was archived of a build, as JSON.', 'archive show acme web 1234')
    .argument('<org>', 'the organization')
    .argument('<pipeline>', 'the slug of the pipeline')
    .argument('<number>', 'the number or the UUID of the build', readBuild)
    .action(async (organization: string, pipeline: string, build: string, options: Output) => {
      const { showArchive } = await import('@millrace/server/main.ts')
      const text = await showArchive(process.env, { organization, pipeline }, build)
      console.log(options.json ? text : JSON.stringify(JSON.parse(text), null, 2))
    })

function readBuild(text: string): string {
  if (/^[1-9]\d{0,8}$/.test(text) || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text
  throw new InvalidArgumentError('It is a number, or a UUID.')
}
