// The whole schema, of one part a type.
import { buildSchema, isObjectType, type GraphQLSchema } from 'graphql'
import { agentPart } from './types/agent.ts'
import { buildPart } from './types/build.ts'
import { clusterQueuePart } from './types/cluster-queue.ts'
import { clusterTokenPart } from './types/cluster-token.ts'
import { clusterPart } from './types/cluster.ts'
import { connectionPart } from './connections.ts'
import { invitationPart } from './types/invitation.ts'
import { jobPart } from './types/job.ts'
import { nodePart } from './types/node.ts'
import { organizationMemberPart } from './types/organization-member.ts'
import { organizationPart } from './types/organization.ts'
import { pipelineSchedulePart } from './types/pipeline-schedule.ts'
import { pipelineTemplatePart } from './types/pipeline-template.ts'
import { pipelinePart } from './types/pipeline.ts'
import { repositoryPart } from './types/repository.ts'
import { rulePart } from './types/rule.ts'
import { parseJson, scalarPart } from './types/scalars.ts'
import { teamMemberPart } from './types/team-member.ts'
import { teamPipelinePart } from './types/team-pipeline.ts'
import { teamSuitePart } from './types/team-suite.ts'
import { teamPart } from './types/team.ts'
import type { Part } from './node.ts'
import { userPart } from './types/user.ts'

const parts: readonly Part[] = [
  scalarPart,
  connectionPart,
  nodePart,
  organizationPart,
  organizationMemberPart,
  invitationPart,
  userPart,
  pipelinePart,
  repositoryPart,
  pipelineSchedulePart,
  pipelineTemplatePart,
  buildPart,
  jobPart,
  agentPart,
  clusterPart,
  clusterQueuePart,
  clusterTokenPart,
  teamPart,
  teamMemberPart,
  teamPipelinePart,
  teamSuitePart,
  rulePart,
]

/** Builds the schema. A resolver of a field that no type has is a bug. */
export function buildSubset(): GraphQLSchema {
  const sdl = ['type Query', 'type Mutation', ...parts.map((part) => part.sdl)].join('\n')
  const schema = buildSchema(sdl)
  for (const [type, resolvers] of parts.flatMap((part) => Object.entries(part.resolvers ?? {}))) {
    const fields = fieldsOf(schema, type)
    for (const [name, resolve] of Object.entries(resolvers)) {
      const field = fields[name]
      if (field === undefined) throw new Error(`${type} has no field ${name}.`)
      field.resolve = resolve
    }
  }
  parseJson(schema)
  return schema
}

function fieldsOf(schema: GraphQLSchema, name: string) {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new Error(`There is no type ${name}.`)
  return type.getFields()
}
