// The service of the sandbox that is described by an OpenAPI document: the tickets of a shop.

interface Ticket {
  ticket: string;
  status: 'open' | 'closed';
  customer: string;
  text: string;
}

const tickets: readonly Ticket[] = [
  { ticket: 'T-17', status: 'open', customer: 'Ada Example', text: 'My desk lamp has come without its bulb.' },
  { ticket: 'T-18', status: 'closed', customer: 'Max Example', text: 'Thank you, the chair has come.' },
];

/** Returns the tickets with the status, or all tickets if `status` is null. */
export function listTickets(status: string | null): object {
  return { tickets: tickets.filter((ticket) => status === null || ticket.status === status) };
}

export function readTicket(id: string): object | undefined {
  return tickets.find(({ ticket }) => ticket === id);
}

const OK = { description: 'Done', content: { 'application/json': { schema: { type: 'object' } } } };
const TICKET = {
  name: 'ticket',
  in: 'path',
  required: true,
  description: 'The number of the ticket',
  schema: { type: 'string' },
};

/** Returns the OpenAPI document of the service at this address. */
export function helpDeskDocument(server: string): object {
  return {
    openapi: '3.1.0',
    info: { title: 'Help desk', version: '1', description: 'The tickets that the customers of a shop have written.' },
    servers: [{ url: server }],
    paths: {
      '/tickets': {
        get: {
          operationId: 'listTickets',
          summary: 'List tickets',
          parameters: [{ name: 'status', in: 'query', schema: { type: 'string', enum: ['open', 'closed'] } }],
          responses: { 200: OK },
        },
      },
      '/tickets/{ticket}': {
        get: {
          operationId: 'readTicket',
          summary: 'Read a ticket',
          parameters: [TICKET],
          responses: { 200: OK },
        },
      },
      '/tickets/{ticket}/answers': {
        post: {
          operationId: 'answerTicket',
          summary: 'Answer a ticket',
          description: 'Sends the answer to the customer.',
          parameters: [TICKET],
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['text'],
                  properties: { text: { type: 'string', description: 'What the customer reads' } },
                },
              },
            },
          },
          responses: { 201: OK },
        },
      },
    },
  };
}
