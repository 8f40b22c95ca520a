import { InvalidArgumentError, type Command } from 'commander'
import { command, print, type Output } from '../../command.ts'
import { loadProgram } from '../../program.ts'

interface Switch {
  name: string
  isOn: boolean
}

export const orgSet = (): Command =>
  command(
    'set',
    'Turn features of an organization on or off: custom_agent_images, audit_log, event_log_api, ' +
      'include_build_meta_data, tracestate, members_manage_notification_services, members_view_teams.',
    'org set acme --feature audit_log=on --feature tracestate=off',
  )
    .argument('<slug>', 'the organization')
    .requiredOption('--feature <name=on|off>', 'repeat it for several', readSwitch)
    .action(async (slug: string, options: Output & { feature: Switch[] }) => {
      const { setFeatures } = await loadProgram()
      const features = await setFeatures(process.env, slug, options.feature)
      print(options, { slug, features }, `Features of ${slug} that are on: ${features.join(', ') || 'none'}.`)
    })

function readSwitch(text: string, earlier: readonly Switch[] = []): Switch[] {
  const [, name, state] = /^([^=]+)=(on|off)$/.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('It is written NAME=on or NAME=off.')
  return [...earlier, { name, isOn: state === 'on' }]
}
