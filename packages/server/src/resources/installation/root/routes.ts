import { ok, redirect } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { Greeting } from './schema.ts'

const getRootRoute = route({
  method: 'GET',
  url: '/',
  summary: 'Say that something answers here; browsers are sent to the web interface',
  scope: 'none',
  permission: 'anonymous',
  answers: { 200: Greeting, 302: null },
  async handler({ ctx, headers }) {
    if (headers.accept?.includes('text/html')) return redirect('/-/start')
    return ok({ message: '🛠', timestamp: Math.floor(ctx.now().getTime() / 1000) })
  },
})

export const rootRoutes = [getRootRoute]
