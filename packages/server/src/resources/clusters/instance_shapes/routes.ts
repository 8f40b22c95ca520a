import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { readShape, runnableShapes } from '../queues/rules.ts'
import { InstanceShape } from './schema.ts'

const listInstanceShapesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/instance_shapes',
  summary: 'List the machines that hosted queues may have; none: the installation runs no hosted clusters',
  scope: 'read_clusters',
  permission: 'member',
  answers: { 200: Type.Array(InstanceShape) },
  async handler({ ctx }) {
    return ok(ctx.hosted === null ? [] : runnableShapes.map((name) => ({ ...readShape(name), name })))
  },
})

export const instanceShapeRoutes = [listInstanceShapesRoute]
