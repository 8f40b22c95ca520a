// What deliveries are made with beside the guarded client; one for all of them.
import type { Config } from '../../config.ts'
import { cloudBus, type CloudBus } from './cloud-bus.ts'
import { openMail, type Mail } from './mail.ts'

export interface Means {
  cloudBus: CloudBus
  mail: Mail
  /** Where change events for pagers go. */
  pagerUrl: string
}

export const openMeans = (config: Config): Means => ({
  cloudBus: cloudBus(config.eventBus),
  mail: openMail(config),
  pagerUrl: config.pagerUrl,
})
