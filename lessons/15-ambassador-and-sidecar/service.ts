// What a service knows of the world outside: one local address, one path, one body.
import { type Answer, openClient } from '#helpers/lesson/client.ts';
import { within } from '#helpers/lesson/waiting.ts';

/** Asks the process next to the service where a shipment is. */
export async function askForShipment(port: number, trackingNo: string): Promise<Answer> {
  using client = openClient(port);
  return await within(client.send(`/durum/${encodeURIComponent(trackingNo)}`), 'its status');
}
