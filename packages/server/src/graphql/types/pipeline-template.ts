import { connectionSdl } from '../connections.ts'
import { uuidOf } from '../ids.ts'
import { bodyOf, givenOf, type Input } from '../mutations.ts'
import { orgOfId, requireOrg, userIn } from '../fields.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const pipelineTemplatePart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('PipelineTemplate')}
    extend type Query {
      pipelineTemplate(uuid: ID!): PipelineTemplate
    }
    extend type Mutation {
      pipelineTemplateCreate(input: PipelineTemplateCreateInput!): PipelineTemplateCreatePayload
      pipelineTemplateUpdate(input: PipelineTemplateUpdateInput!): PipelineTemplateUpdatePayload
      pipelineTemplateDelete(input: PipelineTemplateDeleteInput!): PipelineTemplateDeletePayload
    }
    type PipelineTemplate implements Node {
      available: Boolean!
      configuration: YAML!
      createdAt: DateTime!
      createdBy: User
      description: String
      id: ID!
      name: String!
      updatedAt: DateTime!
      updatedBy: User
      uuid: ID!
    }
    input PipelineTemplateCreateInput {
      available: Boolean = false
      clientMutationId: String
      configuration: String!
      description: String
      name: String!
      organizationId: ID!
    }
    type PipelineTemplateCreatePayload {
      clientMutationId: String
      pipelineTemplate: PipelineTemplate!
    }
    input PipelineTemplateUpdateInput {
      available: Boolean
      clientMutationId: String
      configuration: String
      description: String
      id: ID!
      name: String
      organizationId: ID!
    }
    type PipelineTemplateUpdatePayload {
      clientMutationId: String
      pipelineTemplate: PipelineTemplate!
    }
    input PipelineTemplateDeleteInput {
      clientMutationId: String
      id: ID!
      organizationId: ID!
    }
    type PipelineTemplateDeletePayload {
      clientMutationId: String
      deletedPipelineTemplateId: ID!
    }
  `,
  resolvers: {
    Query: {
      async pipelineTemplate(_: unknown, { uuid }: { uuid: string }, { rest, places }: Asked) {
        const place = await places.find('PipelineTemplate', uuidOf('PipelineTemplate', uuid))
        const row = place && (await rest.find(template, place))
        return place && row && new Thing('PipelineTemplate', place.org, row)
      },
    },
    Mutation: {
      async pipelineTemplateCreate(_: unknown, { input }: Input<{ organizationId: string }>, asked: Asked) {
        const org = await orgOfId(asked, input.organizationId)
        const row = await asked.rest.write('POST', templates, { org }, templateBody(input))
        const pipelineTemplate = new Thing('PipelineTemplate', org, row)
        return { clientMutationId: input.clientMutationId, pipelineTemplate }
      },
      async pipelineTemplateUpdate(_: unknown, { input }: Input<TemplateInput>, asked: Asked) {
        const place = await placeOf(asked, input)
        const row = await asked.rest.write('PUT', template, place, templateBody(input))
        const pipelineTemplate = new Thing('PipelineTemplate', place.org, row)
        return { clientMutationId: input.clientMutationId, pipelineTemplate }
      },
      async pipelineTemplateDelete(_: unknown, { input }: Input<TemplateInput>, asked: Asked) {
        await asked.rest.write('DELETE', template, await placeOf(asked, input))
        return { clientMutationId: input.clientMutationId, deletedPipelineTemplateId: input.id }
      },
    },
    PipelineTemplate: { createdBy: userIn('created_by'), updatedBy: userIn('updated_by') },
  },
}

const templates = '/v2/organizations/:org/pipeline-templates'
const template = `${templates}/:template`

type TemplateInput = { id: string; organizationId: string }

const templateBody = (input: object) => ({
  ...bodyOf(input, { description: 'description' }),
  ...givenOf(input, { available: 'available', configuration: 'configuration', name: 'name' }),
})

async function placeOf(asked: Asked, { id, organizationId }: TemplateInput) {
  const place = await asked.places.get('PipelineTemplate', uuidOf('PipelineTemplate', id))
  await requireOrg(asked, organizationId, place.org, 'pipeline template')
  return place
}
