import type {
  AnyMessage,
  ClientContext,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { client, methods } from '@agentclientprotocol/sdk';

/** Our end of an ACP connection: incoming messages are pushed, ours go out by `send`. */
export type AcpChannel = { agent: ClientContext; push: (message: AnyMessage) => void };

/** Connects the ACP library to lines that are read elsewhere, so that they can be bounded and reported one by one. */
export function openAcpChannel(
  send: (message: object) => void,
  onPermission: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse>,
): AcpChannel {
  let controller: ReadableStreamDefaultController<AnyMessage> | undefined;
  const readable = new ReadableStream<AnyMessage>({
    start(given) {
      controller = given;
    },
  });
  const writable = new WritableStream<AnyMessage>({ write: (message) => send(message) });
  const { agent } = client({ name: 'pawl' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => onPermission(params))
    .connect({ readable, writable });
  return { agent, push: (message) => controller?.enqueue(message) };
}
