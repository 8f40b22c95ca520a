// The transports beside lib/outbound.ts, shared by all deliveries of a process.
import type { Config } from '../../config/config.ts'
import type { CloudBus } from '../provider.ts'
import { cloudBus } from './cloud-bus.ts'
import { openMail, type Mail } from './mail.ts'

export interface Transports {
  cloudBus: CloudBus
  mail: Mail
  /** The address for PagerDuty change events. */
  pagerUrl: string
}

export const openTransports = (config: Config): Transports => ({
  cloudBus: cloudBus(config.eventBus),
  mail: openMail(config),
  pagerUrl: config.pagerUrl,
})
