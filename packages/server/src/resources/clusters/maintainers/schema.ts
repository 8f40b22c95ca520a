import { Type, type Static } from 'typebox'
import { TeamActor, UserActor } from '../clusters/schema.ts'
import { Uuid } from '../../schema.ts'

export const Maintainer = Type.Object(
  {
    id: Uuid,
    actor: Type.Union([UserActor, Type.Object({ ...TeamActor.properties, type: Type.Literal('team') })]),
  },
  { title: 'ClusterMaintainer' },
)

export const CreateMaintainer = Type.Object(
  {
    user: Type.Optional(Type.String({ description: 'UUID of a member of the organization.' })),
    team: Type.Optional(Type.String({ description: 'UUID of a team of the organization.' })),
  },
  { title: 'CreateClusterMaintainer', examples: [{ user: '01885682-55a7-44f5-84f3-0402fb452e66' }] },
)

export type CreateMaintainerBody = Static<typeof CreateMaintainer>
