import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { Meta } from './schema.ts'

const getMetaRoute = route({
  method: 'GET',
  url: '/v2/meta',
  summary: 'Get what is public about this installation',
  scope: 'none',
  permission: 'anonymous',
  answers: { 200: Meta },
  async handler({ ctx }) {
    return ok({ webhook_ips: ctx.config.webhookIps })
  },
})

export const metaRoutes = [getMetaRoute]
