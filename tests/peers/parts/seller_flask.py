"""The other Python seller of today: x402 with Flask, protocol version 2, under werkzeug's server (HTTP/1.0)."""

import ssl
import threading

from flask import Flask, Response, jsonify, request
from werkzeug.serving import make_server
from x402 import x402ResourceServerSync
from x402.http import FacilitatorConfig, HTTPFacilitatorClientSync
from x402.http.middleware.flask import payment_middleware
from x402.mechanisms.evm.exact import ExactEvmServerScheme

import part
import routes


def app_for(told, facilitator_url):
    app = Flask(__name__)
    server = x402ResourceServerSync(HTTPFacilitatorClientSync(FacilitatorConfig(url=facilitator_url)))
    server.register(routes.NETWORK, ExactEvmServerScheme())
    payment_middleware(app, routes.routes(told), server)
    seller = told["seller"]
    paths = ["/free", *(good["path"] for good in told["goods"] if good["method"] == "GET")]
    for path in paths:
        app.add_url_rule(path, path, lambda path=path: jsonify(part.goods_of(seller, path)))
    app.add_url_rule("/echo", "/echo", echo, methods=["POST"])
    return app


def echo():
    return Response(request.get_data(), headers={"content-type": request.headers.get("content-type", "application/octet-stream")})


def main():
    told = part.settings()
    ports, threads = {}, []
    with part.certificate(told["tls"]) as (certificate, key):
        secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secured.load_cert_chain(certificate, key)
    for temper, url in told["facilitators"].items():
        server = make_server(part.LOOPBACK, 0, app_for(told, url), threaded=True, ssl_context=secured)
        ports[temper] = server.server_port
        threads.append(threading.Thread(target=server.serve_forever, daemon=True))
    for thread in threads:
        thread.start()
    part.ready(ports=ports)
    for thread in threads:
        thread.join()


main()
