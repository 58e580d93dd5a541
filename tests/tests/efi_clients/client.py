"""Uses the methods of Efí's official Python client against the sandbox. Only the host is replaced.

Arguments: the sandbox's address, client id, client secret, Pix key, any readable file.
"""
import json
import sys
import time
import urllib.request

from efipay import Constants, EfiPay

base, client_id, client_secret, chave, file = sys.argv[1:]
Constants.APIS["PIX"]["URL"]["sandbox"] = base
options = {"client_id": client_id, "client_secret": client_secret, "sandbox": True, "certificate": file}
efi = EfiPay(options)


def kind(refused):
    return refused.get("nome") or refused.get("error") or refused["type"].rsplit("/")[-1]


def control(where, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(base + where, data, {"content-type": "application/json"}, method="POST")
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def until(call, status):
    for _ in range(100):
        answer = call()
        if answer["status"] == status:
            return answer
        time.sleep(0.1)
    raise AssertionError(answer)


period = {"inicio": "2020-01-01T00:00:00Z", "fim": "2100-01-01T00:00:00Z"}
txid = "python" + "0" * 25
cob = {"calendario": {"expiracao": 3600}, "valor": {"original": "10.50"}, "chave": chave}


def payout(valor):
    return {"valor": valor, "pagador": {"chave": chave}, "favorecido": {"chave": "ana@example.com"}}


refused = efi.pix_send(params={"idEnvio": "sent1"}, body=payout("1.00"))
assert kind(refused) == "chave_invalida" and "webhook" in refused["mensagem"], refused
url = "https://shop.example/hook"
skip = {"x-skip-mtls-checking": "true"}
assert efi.pix_config_webhook(params={"chave": chave}, body={"webhookUrl": url}, headers=skip) == {"webhookUrl": url}
assert efi.pix_detail_webhook(params={"chave": chave})["webhookUrl"] == url
assert len(efi.pix_list_webhook(params=period)["webhooks"]) == 1

assert efi.pix_create_charge(params={"txid": txid}, body=cob)["status"] == "ATIVA"
assert efi.pix_create_immediate_charge(body=cob)["valor"] == {"original": "10.50"}
assert kind(efi.pix_create_charge(params={"txid": txid}, body=cob)) == "txid_duplicado"
updated = efi.pix_update_charge(params={"txid": txid}, body={"valor": {"original": "12.00"}})
assert updated["revisao"] == 1, updated
assert len(efi.pix_list_charges(params=period)["cobs"]) == 2
assert kind(efi.pix_detail_charge(params={"txid": "0" * 30})) == "CobNaoEncontrado"

e2e_id = control(f"/sandbox/cob/{txid}/pay", {})["endToEndId"]
assert efi.pix_detail_received(params={"e2eId": e2e_id})["valor"] == "12.00"
assert len(efi.pix_received_list(params=period)["pix"]) == 1
assert efi.pix_detail_charge(params={"txid": txid})["status"] == "CONCLUIDA"
back = {"e2eId": e2e_id, "id": "back1"}
assert efi.pix_devolution(params=back, body={"valor": "2.00"})["status"] == "EM_PROCESSAMENTO"
until(lambda: efi.pix_detail_devolution(params=back), "DEVOLVIDO")

assert efi.get_account_balance(params={"bloqueios": "true"})["bloqueios"]["med"] == "0.00"
sent = efi.pix_send(params={"idEnvio": "sent1"}, body=payout("1.00"))
assert (sent["idEnvio"], sent["status"], sent["e2eId"]) == ("sent1", "EM_PROCESSAMENTO", sent["endToEndId"]), sent
assert kind(efi.pix_send(params={"idEnvio": "sent1"}, body=payout("1.00"))) == "id_envio_duplicado"
assert kind(efi.pix_send(params={"idEnvio": "sent2"}, body=payout("1,00"))) == "json_invalido"
until(lambda: efi.pix_send_detail_id(params={"idEnvio": "sent1"}), "REALIZADO")
assert efi.pix_send_detail(params={"e2eid": sent["e2eId"]})["idEnvio"] == "sent1"
assert len(efi.pix_send_list(params=period)["pix"]) == 1
assert kind(efi.pix_send_detail_id(params={"idEnvio": "sent2"})) == "PixEnviadoNaoEncontrado"

control(f"/sandbox/pix/{e2e_id}/infraction", {})
case = {"idInfracao": efi.med_list(params=period)["infracoes"][0]["idInfracao"]}
defense = {"analise": "rejeitado", "justificativa": "Foi entregue."}
# The client returns an answer without a body as a text with the status.
efi.med_defense(params=case, body=defense)
assert kind(efi.med_defense(params=case, body=defense)) == "InfracaoOperacaoInvalida"
assert efi.med_list(params=period)["infracoes"][0]["status"] == "EM_DEFESA"

efi.pix_delete_webhook(params={"chave": chave})
stranger = EfiPay({**options, "client_secret": "another"})
assert not isinstance(stranger.pix_list_charges(params=period), dict)
