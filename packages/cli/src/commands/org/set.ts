import { InvalidArgumentError, type Command } from 'commander'
import { collect, command, print, type Output } from '../../command.ts'

interface Switch {
  name: string
  isOn: boolean
}

interface Options extends Output {
  feature?: Switch[]
  allowIp?: string[]
  clearIpRanges?: boolean
}

export const orgSet = (): Command =>
  command(
    'set',
    'Enable or disable features of an organization: custom_agent_images, audit_log, event_log_api, ' +
      'include_build_meta_data, tracestate, members_manage_notification_services, members_view_teams. ' +
      'Set the addresses that its API may be used from.',
    'org set acme --feature audit_log=on --feature tracestate=off',
  )
    .argument('<slug>', 'the organization')
    .option('--feature <name=on|off>', 'repeat it for several', readSwitch)
    .option('--allow-ip <range>', 'the only addresses that may use the API; repeat it for several', collect)
    .option('--clear-ip-ranges', 'let any address use the API, for those who have locked themselves out')
    .action(async (slug: string, options: Options, self: Command) => {
      const { feature: features, allowIp, clearIpRanges } = options
      if (features === undefined && allowIp === undefined && !clearIpRanges) {
        self.error('error: give --feature, --allow-ip or --clear-ip-ranges', { exitCode: 2 })
      }
      if (allowIp !== undefined && clearIpRanges) {
        self.error('error: give --allow-ip or --clear-ip-ranges, not both', { exitCode: 2 })
      }
      const { setFeatures, setIpRanges } = await import('@millrace/server/main.ts')
      const done: { features?: string[]; allowed_ip_addresses?: string | null } = {}
      const said: string[] = []
      if (features !== undefined) {
        done.features = await setFeatures(process.env, slug, features)
        said.push(`Features of ${slug} that are on: ${done.features.join(', ') || 'none'}.`)
      }
      if (allowIp !== undefined || clearIpRanges) {
        const ranges = await setIpRanges(process.env, slug, allowIp?.join(' ') ?? null)
        done.allowed_ip_addresses = ranges
        said.push(`The API of ${slug} may be used from ${ranges ?? 'anywhere'}.`)
      }
      print(options, { slug, ...done }, said.join('\n'))
    })

function readSwitch(text: string, earlier: readonly Switch[] = []): Switch[] {
  const [, name, state] = /^([^=]+)=(on|off)$/.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('It is written NAME=on or NAME=off.')
  return [...earlier, { name, isOn: state === 'on' }]
}
