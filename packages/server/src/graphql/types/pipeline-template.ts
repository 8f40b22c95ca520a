import { embedded } from '../fields.ts'
import { readIdOf } from '../ids.ts'
import { byIdInOrganization, givenId, ifGiven, optional, written } from '../mutations.ts'
import { findById } from '../node.ts'
import type { BodyInputs, Part } from '../table.ts'

const settings: BodyInputs = {
  available: ifGiven('Boolean', { defaultValue: false }),
  configuration: 'String!',
  description: 'String',
  name: 'String!',
}

const ofTemplate = byIdInOrganization('PipelineTemplate')

export const pipelineTemplatePart: Part = {
  queries: {
    pipelineTemplate: {
      type: 'PipelineTemplate',
      args: { uuid: 'ID!' },
      resolve: (_, { uuid }: { uuid: string }, context) =>
        findById(context, readIdOf('PipelineTemplate', uuid)),
    },
  },
  nodes: {
    PipelineTemplate: {
      available: 'Boolean!',
      configuration: 'YAML!',
      createdAt: 'DateTime!',
      createdBy: embedded('User', 'created_by'),
      description: 'String',
      name: 'String!',
      updatedAt: 'DateTime!',
      updatedBy: embedded('User', 'updated_by'),
      uuid: 'ID!',
    },
  },
  mutations: {
    pipelineTemplateCreate: {
      route: 'POST /pipeline-templates',
      at: { organizationId: 'Organization' },
      input: settings,
      payload: { pipelineTemplate: written('PipelineTemplate!') },
    },
    pipelineTemplateUpdate: {
      route: 'PUT',
      at: ofTemplate,
      input: optional(settings),
      payload: { pipelineTemplate: written('PipelineTemplate!') },
    },
    pipelineTemplateDelete: {
      route: 'DELETE',
      at: ofTemplate,
      payload: { deletedPipelineTemplateId: givenId },
    },
  },
}
